import { useState } from 'preact/hooks'
import { api } from '../api.ts'
import { ui } from '../ui.ts'
import { Dialog } from './dialog.tsx'
import { Icon } from './icon.tsx'

/** Asks for a code of the authenticator app; then what it was asked for goes on. */
export function SecondFactor({ then }: { readonly then: () => void }) {
  const [trouble, set] = useState('')
  const [busy, setBusy] = useState(false)
  const close = () => ui.set({ code: undefined })
  const submit = async (form: HTMLFormElement) => {
    setBusy(true)
    try {
      await api.secondFactor(String(new FormData(form).get('code')).replaceAll(/\s/g, ''))
      close()
      then()
    } catch (error) {
      set(error instanceof Error ? error.message : 'It failed.')
    } finally {
      setBusy(false)
    }
  }
  return (
    <Dialog title="Code of your authenticator app" onClose={close}>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          if (!busy) void submit(event.currentTarget)
        }}
      >
        <h2>Code of your authenticator app</h2>
        <p class="muted">Approving and switching off needs it. It counts for ten minutes.</p>
        <label class="field">
          <span>Six digits</span>
          <input name="code" inputMode="numeric" autoComplete="one-time-code" pattern="[0-9 ]{6,7}" required />
        </label>
        {trouble !== '' && (
          <p class="form-trouble tone-bad" role="alert">
            <Icon name="bad" /> {trouble}
          </p>
        )}
        <div class="dialog-buttons">
          <button type="button" class="button" onClick={close}>
            Cancel
          </button>
          <button type="submit" class="button is-main" disabled={busy}>
            Go on
          </button>
        </div>
      </form>
    </Dialog>
  )
}
