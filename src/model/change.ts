/** One difference between what is declared and what is there. */
export interface Change {
  /** Field in the words of the declaration: `memory.dedicatedMb`, `disks.scsi0.sizeGb`. */
  readonly path: string
  readonly from: unknown
  readonly to: unknown
  /** live: takes effect at once. restart: in force after the guest restarts. replace: only a new thing can have it. */
  readonly effect: 'live' | 'restart' | 'replace'
  /** Secret values are shown as changed, never what they are. */
  readonly secret?: boolean
  /** No answer shows it, so nothing was compared: it is sent again because what it refers to has changed. */
  readonly resent?: true
  /** The next step of something that croft itself does: nobody changed anything, so it is no drift. */
  readonly own?: true
  /** Why croft cannot make this change, and what a person can do. Nothing of the resource is changed meanwhile. */
  readonly blocked?: { readonly message: string; readonly allow: string }
}
