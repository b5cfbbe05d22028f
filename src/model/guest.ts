/** What a virtual machine and a container are declared with alike. A field that is absent was not declared. */
export interface GuestBasics {
  readonly host: string
  /** Why a guest that is on another host is moved to this one; without it, it is followed and kept where it is. */
  readonly moveHere?: MoveHere
  /** The number the hypervisor knows it by; chosen from the connection's range when not declared. */
  readonly vmid?: number
  readonly name: string
  readonly power?: 'running' | 'stopped'
  /** `never`: what needs a restart is written and waits until somebody restarts the guest. */
  readonly restart?: 'never'
  readonly template?: boolean
  readonly onBoot?: boolean
  readonly startup?: { readonly order?: number; readonly upSeconds?: number; readonly downSeconds?: number }
  readonly protection?: boolean
  readonly pool?: string
  readonly tags?: readonly string[]
  readonly description?: string
  readonly osType?: string
}

/** That a guest is to be brought here, why, and what stands in the way of it. */
export interface MoveHere {
  readonly why: string
  /** A person asked for it now; what is declared stays as it is, and the guest is followed afterwards. */
  readonly once?: true
  readonly blocked?: { readonly message: string; readonly allow: string }
}
