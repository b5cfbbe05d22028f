import type { SecretReference } from './secret.ts'

/** Whom to tell, and of what. */
export interface NotificationSpec {
  /** What is worth telling; everything when it is empty. */
  readonly about: readonly TroubleSort[]
  /** How long a trouble must last before croft reports it, and be gone before it counts as over. */
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

/** What is sent for one trouble: once when it has lasted a while, once when it is over. */
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

/** How croft notifies one receiver: by a notice for each trouble, or by a regular push that says what is wrong. */
export interface Receiver {
  readonly notice?: (message: Message) => Outgoing
  readonly heartbeat?: { readonly everyMs: number; of(titles: readonly string[]): Outgoing }
}

/** One thing to send, as data. Secrets stay references until the moment they are sent. */
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
