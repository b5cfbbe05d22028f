import { FitAddon } from '@xterm/addon-fit'
import { Terminal } from '@xterm/xterm'
import { document as libraryDocument } from './library-document.ts'
import type { OpenTerminal } from './port.ts'

/** The style sheet of the library, as the build hands it in. */
declare const TERMINAL_LOOKS: string

/** Programs choose their colours for a dark ground, so it is dark on all pages. */
const COLOURS = { background: '#15181a', foreground: '#e6e8e3', cursor: '#7fc8a1', selectionBackground: '#3d5a4c' }
const SCROLLBACK = 3_000

let painted = false

/** Built apart from the page, with a `document` of ours in place of the global one. */
export const openTerminal: OpenTerminal = (box, { label, typed, resized, leave }) => {
  if (!painted) {
    const sheet = new CSSStyleSheet()
    sheet.replaceSync(TERMINAL_LOOKS)
    libraryDocument.adoptedStyleSheets.push(sheet)
    painted = true
  }
  const terminal = new Terminal({
    documentOverride: libraryDocument,
    fontFamily: getComputedStyle(box).fontFamily,
    fontSize: 13,
    theme: COLOURS,
    scrollback: SCROLLBACK,
    screenReaderMode: true,
    // A machine may print any link: follow none of them.
    linkHandler: { activate: () => undefined },
  })
  const fit = new FitAddon()
  terminal.loadAddon(fit)
  terminal.open(box)
  terminal.textarea?.setAttribute('aria-label', label)
  const encoder = new TextEncoder()
  terminal.onData((text) => typed(encoder.encode(text)))
  terminal.onBinary((text) => typed(Uint8Array.from(text, (one) => one.charCodeAt(0))))
  terminal.onResize(({ cols, rows }) => resized({ columns: cols, rows }))
  terminal.attachCustomKeyEventHandler((event) => {
    const leaves = (event.ctrlKey && event.key === ']') || (event.shiftKey && event.key === 'Escape')
    if (!leaves) return true
    if (event.type === 'keydown') leave()
    event.preventDefault()
    return false
  })
  const watcher = new ResizeObserver(() => fit.fit())
  watcher.observe(box)
  fit.fit()
  return {
    size: () => ({ columns: terminal.cols, rows: terminal.rows }),
    write: (bytes, drawn) => terminal.write(bytes, drawn),
    paste: (text) => terminal.paste(text),
    selection: () => terminal.getSelection(),
    focus: () => terminal.focus(),
    close() {
      watcher.disconnect()
      terminal.dispose()
    },
  }
}
