// The classes of our elements by tag: querySelector("plan-panel") is a PlanPanel. No browser loads this file.

interface HTMLElementTagNameMap {
  "context-manager-widget": import("../widget/context-manager-widget.js").ContextManagerWidget;
  "file-drop": import("../overview/file-drop.js").FileDrop;
  "heavy-panel": import("../session/heavy-panel.js").HeavyPanel;
  "history-panel": import("../session/history-panel.js").HistoryPanel;
  "learning-proposals": import("../memory/learning-proposals.js").LearningProposals;
  "message-list": import("../session/message-list.js").MessageList;
  "plan-panel": import("../session/plan-panel.js").PlanPanel;
  "resume-dialog": import("../session/resume-dialog.js").ResumeDialog;
  "token-chart": import("../session/token-chart.js").TokenChart;
  "weight-suggestion": import("../settings/weight-suggestion.js").WeightSuggestion;
  "what-if": import("../settings/what-if.js").WhatIf;
}
