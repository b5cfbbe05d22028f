import type { SecretReference } from './secret.ts'

/** Whom to tell, and of what. */
export interface NotificationSpec {
  /** What is worth telling; everything when it is empty. */
  readonly about: readonly TroubleSort[]
  /** How long something must last before it is told, and be gone before it counts as over. */
  readonly afterMs: number
  readonly to: Receiver
}

/** Every class of what can be wrong. */
export const TROUBLE_SORTS = [
  'source',
  'manifest',
  'connection',
  'host',
  'cluster',
  'power',
  'ups',
  'resource',
  'approval',
  'drift',
  'check',
] as const

export type TroubleSort = (typeof TROUBLE_SORTS)[number]

export type Receiver =
  | { readonly by: 'webhook'; readonly url: string; readonly secret: SecretReference }
  | { readonly by: 'ntfy'; readonly url: string; readonly topic: string; readonly token?: SecretReference }
  /** Their addresses are secrets themselves: whoever knows one can write there. */
  | { readonly by: 'slack' | 'discord'; readonly address: SecretReference }
  | { readonly by: 'gotify'; readonly url: string; readonly token: SecretReference }
  | { readonly by: 'uptime-kuma'; readonly address: SecretReference; readonly everyMs: number }
  | {
      readonly by: 'smtp'
      readonly host: string
      readonly port: number
      readonly tls: 'implicit' | 'starttls' | 'none'
      readonly from: string
      readonly to: readonly string[]
      readonly user?: string
      readonly password?: SecretReference
    }
