// The path below which a reverse proxy serves the server, "" or like "/coppice".

export const root = globalThis.document?.documentElement?.dataset.root ?? "";
