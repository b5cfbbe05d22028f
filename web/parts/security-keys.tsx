import { useEffect, useState } from 'preact/hooks'
import type { SecurityKeyOnPage } from '../../src/server/api/schemas.ts'
import { api, Trouble } from '../api.ts'
import { ago } from '../format.ts'
import { addKey, whyNoKeys, whyNot } from '../security-key.ts'
import { toast, ui } from '../ui.ts'

/** Your security keys, with a button to remove each and a line to add one. */
export function SecurityKeys() {
  const [keys, set] = useState<readonly SecurityKeyOnPage[]>([])
  const [trouble, setTrouble] = useState('')
  const [needsInvite, setNeedsInvite] = useState(false)
  const none = whyNoKeys()
  /** If the second factor is needed, continues after it. */
  const attempt = async (work: () => Promise<string>) => {
    setTrouble('')
    try {
      const message = await work()
      if (message !== '') toast('ok', message)
      set((await api.keys()).keys)
    } catch (error) {
      const code = error instanceof Trouble ? error.code : ''
      if (code === 'second-factor') return ui.set({ code: () => void attempt(work) })
      if (code === 'invite') setNeedsInvite(true)
      setTrouble(whyNot(error))
    }
  }
  useEffect(() => void attempt(() => Promise.resolve('')), [])
  return (
    <>
      <h3>Your security keys</h3>
      {keys.length > 0 && (
        <table class="table">
          <thead>
            <tr>
              <th>Key</th>
              <th>For the page</th>
              <th>Last used</th>
              <th>
                <span class="hidden">Action</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {keys.map(({ id, name, rpId, usedMs }) => (
              <tr key={id}>
                <td>{name}</td>
                <td>{rpId}</td>
                <td>{usedMs === undefined ? 'never' : ago(usedMs, Date.now())}</td>
                <td>
                  <button
                    type="button"
                    class="button"
                    aria-label={`Remove ${name}`}
                    onClick={() => void attempt(async () => (await api.removeKey(id)).message)}
                  >
                    Remove
                  </button>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {trouble !== '' && (
        <p class="form-trouble tone-bad" role="alert">
          {trouble}
        </p>
      )}
      {none !== '' ? (
        <p class="muted">{none}</p>
      ) : (
        <form
          onSubmit={(event) => {
            event.preventDefault()
            const form = event.currentTarget
            const given = new FormData(form)
            void attempt(async () => {
              const message = await addKey(String(given.get('key-name')), String(given.get('invite') ?? ''))
              form.reset()
              return message
            })
          }}
        >
          <label class="field">
            <span>Name of a new key</span>
            <input name="key-name" maxLength={64} required autoComplete="off" />
          </label>
          {needsInvite && (
            <label class="field">
              <span>Invitation</span>
              <input name="invite" maxLength={64} autoComplete="off" />
            </label>
          )}
          <button type="submit" class="button">
            Add a security key
          </button>
        </form>
      )}
    </>
  )
}
