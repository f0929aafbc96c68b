// The page that a module under test finds: the words of the server's choices, as templates/base.html writes
// them.

/** @param {Record<string, string>} labels @returns {Api.ChoiceText[]} */
const table = (labels) =>
  Object.entries(labels).map(([name, label]) => ({ name, label, meaning: `is ${label.toLowerCase()}` }));

const CHOICES = {
  strategy: table({
    foresight: "Foresight",
    score: "Lowest score first",
    newest_first: "Newest first",
    summarise: "Summarise",
  }),
  task_type: table({
    any: "No type",
    auto: "What it looks like",
    coding: "Coding",
    support: "Support",
    research: "Research",
    chat: "Chat",
  }),
  signal: table({ recency: "Recency", role: "Who speaks" }),
  weighing: table({ foresight: "Foresight", score: "Lowest score first" }),
  weighing_messages: table({ score: "Lowest score first" }),
  integration: table({ "claude-code": "coppice hooks install" }),
  windows: table({ current: "Current", blueprint: "As of Blueprint" }),
};

// lit-html needs a tree walker if there is a document.
const page = {
  querySelector: () => ({ textContent: JSON.stringify(CHOICES) }),
  createTreeWalker: () => ({}),
  createComment: () => ({}),
};
Object.assign(globalThis, { document: page });
