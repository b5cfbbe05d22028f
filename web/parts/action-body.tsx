import { useState } from 'preact/hooks'
import type { ActionOnPage } from '../../src/server/api/schemas.ts'
import { SIGN_OF } from '../tone.ts'
import { Badge, Icon } from './icon.tsx'

const EFFECTS: Readonly<Record<string, string>> = {
  live: 'at once',
  restart: 'needs a restart',
  replace: 'needs a new one',
}

/** Shows the reason, the changes, and each call. */
export function ActionBody({ action, brief = false }: { readonly action: ActionOnPage; readonly brief?: boolean }) {
  const [calls, show] = useState(false)
  return (
    <div class="action">
      {!brief && (
        <p class="action-why">
          <Sign action={action} /> <b>{action.next === undefined ? action.do : `${action.do}: ${action.next}`}</b>{' '}
          <span>{action.reason ?? action.message}</span>
        </p>
      )}
      {action.message !== undefined && action.reason !== undefined && <p class="muted">{action.message}</p>}
      {action.allow !== undefined && (
        <p class="action-allow">
          <Icon name="pause" size={15} />{' '}
          <span>
            {action.guard !== undefined && <b>{action.guard}: </b>}
            {action.allow}
          </span>
        </p>
      )}
      {action.changes.length > 0 && (
        <table class="changes">
          <thead>
            <tr>
              <th>Field</th>
              <th>There</th>
              <th>Declared</th>
              <th class="wide-only">In force</th>
            </tr>
          </thead>
          <tbody>
            {action.changes.map((change) => (
              <tr key={change.path}>
                <td>
                  <code>{change.path}</code>
                </td>
                <td>
                  <del>{change.from === '' ? '(none)' : change.from}</del>
                </td>
                <td>
                  <ins>{change.to === '' ? '(none)' : change.to}</ins>
                </td>
                <td class="wide-only">
                  {change.blocked === undefined ? EFFECTS[change.effect] : change.blocked.message}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {action.steps.length > 0 && (
        <>
          <ol class="steps">
            {action.steps.map((step, index) => (
              <li key={index}>
                <span>{step.summary}</span>
                {step.disruption !== 'none' && (
                  <Badge
                    tone={step.disruption === 'data-loss' ? 'bad' : 'warn'}
                    word={step.disruption === 'data-loss' ? 'loses data' : 'restarts'}
                  />
                )}
                {calls && (
                  <code class="call">
                    {step.method} {step.path}
                    {Object.entries(step.params).map(([name, value]) => (
                      <span key={name}>
                        {' '}
                        {name}={value}
                      </span>
                    ))}
                  </code>
                )}
              </li>
            ))}
          </ol>
          <button type="button" class="button-quiet" aria-expanded={calls} onClick={() => show(!calls)}>
            {calls ? 'Hide the calls' : 'Show the exact calls'}
          </button>
        </>
      )}
    </div>
  )
}

export function Sign({ action }: { readonly action: Pick<ActionOnPage, 'do' | 'next'> }) {
  return (
    <span class={`sign sign-${action.do}`} aria-hidden="true">
      {SIGN_OF[action.do] ?? ''}
    </span>
  )
}
