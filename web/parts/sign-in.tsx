import { useState } from 'preact/hooks'
import { api, OIDC_SIGN_IN } from '../api.ts'
import { live } from '../live.ts'
import { Command } from './bits.tsx'
import { Dialog } from './dialog.tsx'
import { Icon } from './icon.tsx'

export function SignIn({ onClose }: { readonly onClose: () => void }) {
  const { me } = live.use()
  const [trouble, set] = useState('')
  const [busy, setBusy] = useState(false)
  const submit = async (form: HTMLFormElement) => {
    const data = new FormData(form)
    setBusy(true)
    try {
      live.set({ me: await api.signIn(String(data.get('name')), String(data.get('password'))) })
      onClose()
    } catch (error) {
      set(error instanceof Error ? error.message : 'It failed.')
    } finally {
      setBusy(false)
    }
  }
  return (
    <Dialog title="Sign in" onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          void submit(event.currentTarget)
        }}
      >
        <h2>Sign in</h2>
        <p class="muted">You can read without signing in. Changes need a sign-in, and the audit log records them.</p>
        {me?.signIn.local === true && (
          <>
            <label class="field">
              <span>Name</span>
              <input name="name" autoComplete="username" required />
            </label>
            <label class="field">
              <span>Password</span>
              <input name="password" type="password" autoComplete="current-password" required />
            </label>
          </>
        )}
        {trouble !== '' && (
          <p class="form-trouble tone-bad" role="alert">
            <Icon name="bad" /> {trouble}
          </p>
        )}
        {me?.signIn.local !== true && me?.signIn.oidc !== true && <p>There are no users yet. On the server, run:</p>}
        {me?.signIn.local !== true && me?.signIn.oidc !== true && (
          <Command text="croft user set anna --role operator" />
        )}
        <div class="dialog-buttons">
          <button type="button" class="button" onClick={onClose}>
            Cancel
          </button>
          {me?.signIn.oidc === true && (
            <a class="button" href={OIDC_SIGN_IN}>
              With your provider
            </a>
          )}
          {me?.signIn.local === true && (
            <button type="submit" class="button is-main" disabled={busy}>
              Sign in
            </button>
          )}
        </div>
      </form>
    </Dialog>
  )
}
