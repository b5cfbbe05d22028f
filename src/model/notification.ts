import type { SecretReference } from './secret.ts'

/** A receiver of notifications, and their subjects. */
export interface NotificationSpec {
  /** The subjects of notifications; if empty, all. */
  readonly about: readonly TroubleSort[]
  /** How long a trouble must last before croft reports it, and be gone before it counts as over. */
  readonly afterMs: number
  readonly to: Receiver
}

/** All classes of trouble. */
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

/** The notification of one trouble: sent once after it has lasted a while, and once when it is over. */
export interface Message {
  readonly id: string
  readonly sort: TroubleSort
  readonly title: string
  readonly text: string
  readonly resolved: boolean
  readonly sinceMs: number
  readonly atMs: number
}

export function headline({ title, resolved }: Message): string {
  return resolved ? `Resolved: ${title}` : title
}

/** How croft notifies one receiver: one notice per trouble, or a regular push with the current troubles. */
export interface Receiver {
  readonly notice?: (message: Message) => Outgoing
  readonly heartbeat?: { readonly everyMs: number; of(titles: readonly string[]): Outgoing }
}

/** One message as data. Secrets stay references until it is sent. */
export type Outgoing =
  | {
      readonly by: 'http'
      /** A reference if the address alone gives the right to write there. */
      readonly url: string | SecretReference
      /** GET with this query; POST without one. */
      readonly query?: Readonly<Record<string, string>>
      readonly json?: unknown
      readonly credential?: { readonly header: string; readonly before: string; readonly value: SecretReference }
      /** HMAC-SHA-256 of the body. */
      readonly signature?: { readonly header: string; readonly key: SecretReference }
    }
  | { readonly by: 'mail'; readonly server: MailServer; readonly subject: string; readonly text: string }

export interface MailServer {
  readonly host: string
  readonly port: number
  readonly tls: 'implicit' | 'starttls' | 'none'
  readonly from: string
  readonly to: readonly string[]
  readonly user?: string
  readonly password?: SecretReference
}
