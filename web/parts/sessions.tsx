import { useEffect, useState } from 'preact/hooks'
import type { SessionOnPage } from '../../src/server/api/schemas.ts'
import { api } from '../api.ts'
import { ago } from '../format.ts'
import { refreshMe } from '../live.ts'
import { Dialog } from './dialog.tsx'
import { SecurityKeys } from './security-keys.tsx'

/** Lists open sessions, with a button to end each: your own, and for an admin all. */
export function Sessions({ onClose }: { readonly onClose: () => void }) {
  const [sessions, set] = useState<readonly SessionOnPage[]>()
  const [trouble, setTrouble] = useState('')
  const attempt = async (work: () => Promise<void>) => {
    try {
      await work()
    } catch (error) {
      setTrouble(error instanceof Error ? error.message : 'It failed.')
    }
  }
  const load = () => attempt(async () => set((await api.sessions()).sessions))
  const end = ({ id, own }: SessionOnPage) =>
    attempt(async () => {
      await api.endSession(id)
      if (!own) return load()
      onClose()
      await refreshMe()
    })
  useEffect(() => void load(), [])
  return (
    <Dialog title="Open sessions" onClose={onClose} wide>
      <h2>Open sessions</h2>
      {trouble !== '' && (
        <p class="form-trouble tone-bad" role="alert">
          {trouble}
        </p>
      )}
      <table class="table">
        <thead>
          <tr>
            <th>User</th>
            <th>From</th>
            <th>Signed in</th>
            <th>
              <span class="hidden">Action</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {(sessions ?? []).map((one) => (
            <tr key={one.id}>
              <td>
                {one.user} {one.own && <span class="muted">(this one)</span>}
              </td>
              <td>{one.address}</td>
              <td title={new Date(one.openedMs).toISOString()}>{ago(one.openedMs, Date.now())}</td>
              <td>
                <button type="button" class="button" onClick={() => void end(one)}>
                  End
                </button>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      <SecurityKeys />
      <div class="dialog-buttons">
        <button type="button" class="button" onClick={onClose}>
          Close
        </button>
      </div>
    </Dialog>
  )
}
