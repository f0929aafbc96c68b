// The path below which the server is reached, "" or like "/coppice": a proxy may serve it beside others.

export const root = globalThis.document?.documentElement?.dataset.root ?? "";
