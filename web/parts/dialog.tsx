import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'

/** A dialog of the browser: it keeps the focus inside and gives it back, and Esc closes it. */
export function Dialog({
  title,
  onClose,
  children,
  wide = false,
}: {
  readonly title: string
  readonly onClose: () => void
  readonly children: ComponentChildren
  readonly wide?: boolean
}) {
  const box = useRef<HTMLDialogElement>(null)
  // In a layout effect, so that keys typed right after opening go into the dialog.
  useLayoutEffect(() => {
    box.current?.showModal()
    return () => box.current?.close()
  }, [])
  return (
    <dialog
      ref={box}
      class={wide ? 'dialog is-wide' : 'dialog'}
      aria-label={title}
      onCancel={(event) => {
        event.preventDefault()
        onClose()
      }}
      onClick={(event) => event.target === box.current && onClose()}
    >
      <div class="dialog-inside">{children}</div>
    </dialog>
  )
}
