// The text of the widget's sheets. The server makes the module: tokens, gauge and widget.css in one.
export const SHEET: string;
