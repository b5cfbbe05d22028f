import type { Kind } from '../../../kinds/kind.ts'
import type { DraftManifest } from '../draft.ts'
import type { Fields, ReadOptions } from '../reading.ts'

/** One instance of a resource in a state. */
export interface Instance {
  readonly type: string
  /** A free name for an object of that kind: of these words, or after the resource's own. */
  readonly name: (kind: string, words?: readonly string[]) => string
  readonly attributes: Fields
  /** Attributes that the state itself calls sensitive. */
  readonly sensitive: readonly string[]
  readonly options: ReadOptions
}

/** The manifest of an instance, before it is fitted to its kind. */
export interface Carried {
  readonly kind: Kind
  readonly manifest: DraftManifest
  readonly comments?: readonly string[]
  /** Fields that the manifest does not carry, each as a sentence. */
  readonly without?: readonly string[]
  /** Attributes with secret values, which are left out. */
  readonly secrets?: readonly string[]
}

/** Resources of one provider. */
export interface ResourceReader {
  /** Matches the provider's address in a state: `provider["registry.opentofu.org/bpg/proxmox"]`. */
  readonly provider: RegExp
  /** Undefined: an unsupported resource of this provider. */
  read(instance: Instance): Carried | { readonly why: string }
}
