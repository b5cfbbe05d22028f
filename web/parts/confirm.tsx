import { useState } from 'preact/hooks'
import { type Confirm, ui } from '../ui.ts'
import { Command } from './bits.tsx'
import { Dialog } from './dialog.tsx'

/** Asks before something is done: what will happen, what to type where it cannot be taken back, and the command. */
export function ConfirmDialog({ confirm }: { readonly confirm: Confirm }) {
  const [typed, set] = useState('')
  const [busy, setBusy] = useState(false)
  const close = () => ui.set({ confirm: undefined })
  const ready = confirm.type === undefined || typed === confirm.type
  return (
    <Dialog title={confirm.title} onClose={close} wide={confirm.wide === true}>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          if (!ready || busy) return
          setBusy(true)
          void Promise.resolve(confirm.go()).finally(close)
        }}
      >
        <h2>{confirm.title}</h2>
        <div class="dialog-body">{confirm.body}</div>
        {confirm.type !== undefined && (
          <label class="field">
            <span>
              This cannot be taken back. Type <b>{confirm.type}</b> to go on.
            </span>
            <input
              value={typed}
              autoComplete="off"
              spellcheck={false}
              onInput={(event) => set(event.currentTarget.value)}
            />
          </label>
        )}
        {confirm.command !== undefined && <Command text={confirm.command} />}
        <div class="dialog-buttons">
          <button type="button" class="button" onClick={close}>
            Cancel
          </button>
          <button
            type="submit"
            class={`button is-main ${confirm.danger === true ? 'is-danger' : ''}`}
            disabled={!ready || busy}
          >
            {confirm.action}
          </button>
        </div>
      </form>
    </Dialog>
  )
}
