// <token-form></token-form>
//
// A field for the token that the server asks for. It opens the same address with the token, which the server
// takes out of the address if it is valid.
import { html, render } from "./html.js";

/** The form on a page with this query. @param {string} search */
export function tokenForm(search) {
  const query = new URLSearchParams(search);
  const wrong = query.has("token");
  query.delete("token");
  return html`<form method="get" class="row">
    ${[...query].map(([name, value]) => html`<input type="hidden" name=${name} value=${value}>`)}
    <label class="row">Token
      <input type="password" name="token" required autocomplete="current-password"></label>
    <button class="primary">Open</button>
    <small class="muted">${wrong && html`The one in the address is not valid. `}<code>coppice token</code>
      makes one, on the machine of the server.</small>
  </form>`;
}

class TokenForm extends HTMLElement {
  connectedCallback() {
    render(tokenForm(location.search), this);
  }
}

customElements.define("token-form", TokenForm);
