import { useEffect, useRef, useState } from 'preact/hooks'
import type { ResourceDetail } from '../../src/server/api/schemas.ts'
import { api, Trouble } from '../api.ts'
import { useNarrow } from '../hooks.ts'
import { refreshMe } from '../live.ts'
import { type ConsoleLine, joinConsole } from '../terminal/console-line.ts'
import type { OpenTerminal, PageTerminal } from '../terminal/port.ts'
import { may, ui, withRight } from '../ui.ts'
import { Card } from './bits.tsx'
import { Icon } from './icon.tsx'

/** The file of the terminal, built apart; its name has a hash. */
declare const TERMINAL_FILE: string

type ConsoleState =
  | { readonly is: 'closed' }
  | { readonly is: 'opening' }
  | { readonly is: 'open'; readonly ticket: string }
  | { readonly is: 'ended'; readonly why: string }
  | { readonly is: 'refused'; readonly why: string; readonly taken: boolean }

/** The serial console of a machine. It opens on request, and ends when the user leaves the view. */
export function ConsolePanel({ detail }: { readonly detail: ResourceDetail }) {
  const { key, name } = detail
  const [state, set] = useState<ConsoleState>({ is: 'closed' })
  const open = async (takeOver: boolean): Promise<void> => {
    set({ is: 'opening' })
    try {
      const { ticket } = await api.console(key, takeOver)
      set({ is: 'open', ticket })
    } catch (error) {
      set({ is: 'closed' })
      if (error instanceof Trouble && error.status === 401) {
        await refreshMe().catch(() => undefined)
        ui.set({ open: 'sign-in' })
      } else if (error instanceof Trouble && error.code === 'second-factor') ui.set({ code: () => void open(takeOver) })
      else {
        const taken = error instanceof Trouble && error.code === 'console-taken'
        set({ is: 'refused', why: error instanceof Error ? error.message : 'croft does not answer.', taken })
      }
    }
  }
  const go = (takeOver: boolean) => withRight('admin', () => void open(takeOver))
  if (state.is === 'open')
    return <OpenConsole name={name} ticket={state.ticket} onEnd={(why) => set({ is: 'ended', why })} />
  return (
    <Card title="Console">
      <p>
        The serial line of {name}: boot messages, a login prompt, and a way in when its network is broken. Whoever has
        it and a password is root there. The audit log records when you open and close it, and nothing of what is typed.
      </p>
      {(state.is === 'refused' || state.is === 'ended') && (
        <p class={state.is === 'refused' ? 'form-trouble tone-bad' : 'form-trouble tone-quiet'} role="alert">
          <Icon name={state.is === 'refused' ? 'bad' : 'quiet'} />{' '}
          {state.is === 'ended' ? `The console has ended. ${state.why}` : state.why}
        </p>
      )}
      <div class="buttons console-buttons">
        <button type="button" class="button is-main" disabled={state.is === 'opening'} onClick={() => go(false)}>
          {state.is === 'opening' ? 'Opening…' : state.is === 'closed' ? 'Open the console' : 'Open it again'}
        </button>
        {state.is === 'refused' && state.taken && (
          <button type="button" class="button" title="Ends the console that is open now" onClick={() => go(true)}>
            Take it over
          </button>
        )}
      </div>
      {!may('admin') && <p class="muted">It needs the role admin.</p>}
    </Card>
  )
}

/** Keys that a keyboard on glass does not have. */
const KEYS = [
  ['Esc', '\u001b'],
  ['Tab', '\t'],
  ['Ctrl C', '\u0003'],
  ['Ctrl D', '\u0004'],
  ['↑', '\u001b[A'],
  ['↓', '\u001b[B'],
] as const

function OpenConsole({
  name,
  ticket,
  onEnd,
}: {
  readonly name: string
  readonly ticket: string
  readonly onEnd: (why: string) => void
}) {
  const box = useRef<HTMLDivElement>(null)
  const closing = useRef<HTMLButtonElement>(null)
  const [parts, setParts] = useState<{ readonly terminal: PageTerminal; readonly line: ConsoleLine }>()
  const narrow = useNarrow()
  useEffect(() => {
    let gone = false
    let terminal: PageTerminal | undefined
    let line: ConsoleLine | undefined
    void loadTerminal()
      .then((openTerminal) => {
        if (gone || box.current === null) return
        terminal = openTerminal(box.current, {
          label: `Console of ${name}`,
          typed: (bytes) => line?.type(bytes),
          resized: (size) => line?.resize(size),
          leave: () => closing.current?.focus(),
        })
        line = joinConsole(ticket, terminal, (why) => gone || onEnd(why))
        setParts({ terminal, line })
        terminal.focus()
      })
      .catch(() => gone || onEnd('The terminal could not be loaded. Load the page again.'))
    return () => {
      gone = true
      line?.close()
      terminal?.close()
    }
  }, [ticket])
  const typeText = (text: string) => {
    parts?.line.type(new TextEncoder().encode(text))
    parts?.terminal.focus()
  }
  return (
    <Card
      title={`Console of ${name}`}
      aside={
        <>
          {'clipboard' in navigator && (
            <>
              <button
                type="button"
                class="button"
                title="Copy what is selected"
                onClick={() => void navigator.clipboard.writeText(parts?.terminal.selection() ?? '')}
              >
                Copy
              </button>
              <button
                type="button"
                class="button"
                title="Type what was copied"
                onClick={() =>
                  void navigator.clipboard.readText().then(
                    (text) => parts?.terminal.paste(text),
                    () => undefined,
                  )
                }
              >
                Paste
              </button>
            </>
          )}
          <button ref={closing} type="button" class="button" onClick={() => onEnd('You closed it.')}>
            Close
          </button>
        </>
      }
    >
      {narrow && (
        <div class="buttons console-keys" role="group" aria-label="Keys">
          {KEYS.map(([word, text]) => (
            <button key={word} type="button" class="button" onClick={() => typeText(text)}>
              {word}
            </button>
          ))}
        </div>
      )}
      <div ref={box} class="console-screen" data-keys="own" />
      <p class="muted">
        Every key goes to the machine, Tab too. <kbd>Shift</kbd> <kbd>Esc</kbd> or <kbd>Ctrl</kbd> <kbd>]</kbd> leaves
        the terminal. Press Enter if nothing shows. It ends after 15 minutes without a key.
      </p>
    </Card>
  )
}

async function loadTerminal(): Promise<OpenTerminal> {
  const library = (await import(TERMINAL_FILE)) as { readonly openTerminal: OpenTerminal }
  return library.openTerminal
}
