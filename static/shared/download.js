// Saves a text that the page made as a file.

/** @param {string} name of the file @param {string} type its MIME type @param {string} text */
export function download(name, type, text) {
  const address = URL.createObjectURL(new Blob([text], { type }));
  Object.assign(document.createElement("a"), { href: address, download: name }).click();
  URL.revokeObjectURL(address);
}
