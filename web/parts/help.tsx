import { VIEWS } from '../views.ts'
import { Dialog } from './dialog.tsx'

const KEYS: readonly (readonly [string, string])[] = [
  ['/', 'filter'],
  ['Ctrl K  or  :', 'go to anything'],
  ['j  k', 'next and previous line'],
  ['Enter', 'open the line'],
  ['Esc', 'close, or leave the filter'],
  ['t', 'light, dark, as the system'],
  ['?', 'this help'],
  ...VIEWS.map(({ key, title }) => [`g ${key}`, title] as const),
]

export function Help({ onClose }: { readonly onClose: () => void }) {
  return (
    <Dialog title="Keyboard" onClose={onClose}>
      <h2>Keyboard</h2>
      <dl class="keys">
        {KEYS.map(([keys, what]) => (
          <div key={keys}>
            <dt>
              {keys.split('  ').map((one) => (
                <kbd key={one}>{one}</kbd>
              ))}
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
      <div class="dialog-buttons">
        <button type="button" class="button" onClick={onClose}>
          Close
        </button>
      </div>
    </Dialog>
  )
}

/** After g: which key leads where. Any key closes it. */
export function GoKeys() {
  return (
    <div class="go-keys" role="status">
      <b>Go to</b>
      {VIEWS.map(({ key, title }) => (
        <span key={key}>
          <kbd>{key}</kbd> {title}
        </span>
      ))}
    </div>
  )
}
