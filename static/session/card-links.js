// <card-links session-id="…"></card-links>
//
// The last entries of the export menu: the card "What filled my context" as a picture or as Markdown. It
// holds only numbers, so that it can be shared. They come when the menu opens, and move no other entry.
import { api } from "../shared/api.js";
import { download } from "../shared/copy.js";
import { CoppiceElement } from "../shared/element.js";
import { html } from "../shared/html.js";
import { toastError } from "../shared/toast.js";
import { cardMarkdown, cardSvg } from "./context-card.js";

const NAME = "what-filled-my-context";

class CardLinks extends CoppiceElement {
  start() {
    this.actions({
      "card-svg": () => this.#save("svg", "image/svg+xml", (stats) => cardSvg(stats, colourOf)),
      "card-md": () => this.#save("md", "text/markdown", cardMarkdown),
    });
  }

  /** @param {string} suffix @param {string} type @param {(stats: Api.Stats) => string} make */
  async #save(suffix, type, make) {
    try {
      download(`${NAME}.${suffix}`, type, make(await api.stats(this.sessionId)));
    } catch (error) {
      toastError(error, "Could not make the card");
    }
  }

  template() {
    /** @param {string} act @param {string} name */
    const item = (act, name) =>
      html`<button data-act=${act}><span><b>${name}</b><small class="muted"
        >What filled this context, to share: numbers only, no title and no content.</small></span></button>`;
    return html`<hr>${item("card-svg", "Card as a picture")}${item("card-md", "Card as Markdown")}`;
  }
}

/** The colour of a region as six hexadecimal digits, because other programs do not know light-dark().
 * @param {string} region */
function colourOf(region) {
  const canvas = new OffscreenCanvas(1, 1).getContext("2d");
  if (!canvas) return "#888";
  canvas.fillStyle = getComputedStyle(document.documentElement).getPropertyValue(`--r-${region}`);
  canvas.fillRect(0, 0, 1, 1);
  const [red = 0, green = 0, blue = 0] = canvas.getImageData(0, 0, 1, 1).data;
  return `#${[red, green, blue].map((part) => part.toString(16).padStart(2, "0")).join("")}`;
}

customElements.define("card-links", CardLinks);
