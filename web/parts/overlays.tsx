import { dismiss, ui } from '../ui.ts'
import { ConfirmDialog } from './confirm.tsx'
import { GoKeys, Help } from './help.tsx'
import { Icon } from './icon.tsx'
import { Palette } from './palette.tsx'
import { SecondFactor } from './second-factor.tsx'
import { Sessions } from './sessions.tsx'
import { SignIn } from './sign-in.tsx'

export function Overlays() {
  const { open, confirm, code, toasts } = ui.use()
  const close = () => ui.set({ open: 'nothing' })
  return (
    <>
      {confirm !== undefined && <ConfirmDialog confirm={confirm} />}
      {code !== undefined && <SecondFactor then={code} />}
      {open === 'sessions' && <Sessions onClose={close} />}
      {open === 'palette' && <Palette onClose={close} />}
      {open === 'help' && <Help onClose={close} />}
      {open === 'sign-in' && <SignIn onClose={close} />}
      {open === 'go' && <GoKeys />}
      <div class="toasts" role="status" aria-live="polite">
        {toasts.map(({ id, tone, text, link }) => (
          <div key={id} class={`toast tone-${tone}`}>
            <Icon name={tone} />
            <span>
              {text}{' '}
              {link !== undefined && /^https?:\/\//.test(link) && (
                <a href={link} rel="noreferrer noopener" target="_blank">
                  Look at it
                </a>
              )}
            </span>
            <button type="button" class="button-quiet" aria-label="Dismiss" onClick={() => dismiss(id)}>
              <Icon name="close" size={14} />
            </button>
          </div>
        ))}
      </div>
    </>
  )
}
