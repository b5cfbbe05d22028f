/**
 * The `document` that xterm.js sees: its build replaces the global by this one. The library writes style elements and style
 * attributes, which the content policy of the page forbids. Here both become what the policy allows a script of ours: a
 * constructed style sheet, and the styles of the element itself.
 */
const page = globalThis.document

function createElement(tag: string): HTMLElement {
  // A style element counts as inline style even when it is empty.
  const element = page.createElement(tag === 'style' ? 'span' : tag)
  if (tag === 'style') throughSheet(element)
  element.setAttribute = setAttribute
  return element
}

/** Keeps the element empty, and puts its styles into a sheet for the element's lifetime. */
function throughSheet(element: HTMLElement): void {
  element.hidden = true
  const sheet = new CSSStyleSheet()
  let text = ''
  page.adoptedStyleSheets.push(sheet)
  Object.defineProperty(element, 'textContent', {
    get: () => text,
    set(next: string) {
      text = next
      sheet.replaceSync(next)
    },
  })
  element.remove = () => {
    page.adoptedStyleSheets = page.adoptedStyleSheets.filter((one) => one !== sheet)
    Element.prototype.remove.call(element)
  }
}

function setAttribute(this: HTMLElement, name: string, value: string): void {
  if (name === 'style') this.style.cssText = value
  else Element.prototype.setAttribute.call(this, name, value)
}

const libraryDocument: Document = new Proxy(page, {
  get(target, name) {
    if (name === 'createElement') return createElement
    const value: unknown = Reflect.get(target, name, target)
    return typeof value === 'function' ? value.bind(target) : value
  },
  set: (target, name, value) => Reflect.set(target, name, value, target),
})

export { libraryDocument as document }
