import { Sealed } from './sealed.ts'

/** Where a secret's value is to be found. The value itself is never part of a declaration. */
export type SecretReference =
  | { readonly env: string }
  | { readonly file: string }
  /** A value in a file of the repository that sops has encrypted: `{file: secrets/pve.yaml, key: token}`. */
  | { readonly sops: { readonly file: string; readonly key: string } }
  /** `source`: only a Secret of that source is meant. */
  | {
      readonly secretRef: {
        readonly name: string
        readonly namespace?: string
        readonly key: string
        readonly source?: string
      }
    }

/** A text that must not be seen; only `reveal` at the point of use gives it. */
export class Secret extends Sealed<string> {}
