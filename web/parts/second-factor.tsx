import { useEffect, useState } from 'preact/hooks'
import type { FactorsToShow } from '../../src/server/api/schemas.ts'
import { api } from '../api.ts'
import { showKey, whyNot } from '../security-key.ts'
import { ui } from '../ui.ts'
import { Dialog } from './dialog.tsx'
import { Icon } from './icon.tsx'

/** Asks for a code or a security key, then continues the pending action. */
export function SecondFactor({ then }: { readonly then: () => void }) {
  const [can, setCan] = useState<FactorsToShow>()
  const [trouble, set] = useState('')
  const [busy, setBusy] = useState(false)
  const close = () => ui.set({ code: undefined })
  const attempt = async (work: () => Promise<unknown>, ends: boolean) => {
    setBusy(true)
    try {
      await work()
      if (!ends) return
      close()
      then()
    } catch (error) {
      set(whyNot(error))
    } finally {
      setBusy(false)
    }
  }
  const begin = async () => {
    const next = await api.beginFactor()
    setCan(next)
    return next
  }
  useEffect(() => void attempt(begin, false), [])
  const useKey = async () => {
    // Get a new challenge each time: an answer counts once.
    const { key } = await begin()
    if (key === undefined) throw new Error('You have no key for this page.')
    await showKey(key)
  }
  return (
    <Dialog title="Second factor" onClose={close}>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          const code = String(new FormData(event.currentTarget).get('code')).replaceAll(/\s/g, '')
          if (!busy) void attempt(() => api.secondFactor(code), true)
        }}
      >
        <h2>Second factor</h2>
        <p class="muted">Approvals, power-off, kubeconfigs and consoles need it. It is valid for ten minutes.</p>
        {can?.code === true && (
          <label class="field">
            <span>Six digits of your authenticator app</span>
            <input name="code" inputMode="numeric" autoComplete="one-time-code" pattern="[0-9 ]{6,7}" required />
          </label>
        )}
        {can !== undefined && can.key === undefined && can.elsewhere.length > 0 && (
          <p>Your security keys are for this page under another name: {can.elsewhere.join(', ')}.</p>
        )}
        {trouble !== '' && (
          <p class="form-trouble tone-bad" role="alert">
            <Icon name="bad" /> {trouble}
          </p>
        )}
        <div class="dialog-buttons">
          <button type="button" class="button" onClick={close}>
            Cancel
          </button>
          {can?.key !== undefined && (
            <button
              type="button"
              class={can.code ? 'button' : 'button is-main'}
              disabled={busy}
              onClick={() => void attempt(useKey, true)}
            >
              Use your security key
            </button>
          )}
          {can?.code === true && (
            <button type="submit" class="button is-main" disabled={busy}>
              Go on
            </button>
          )}
        </div>
      </form>
    </Dialog>
  )
}
