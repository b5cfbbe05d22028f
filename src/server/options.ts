import type { Clock } from '../lib/clock.ts'
import type { OidcOptions } from './auth/oidc.ts'
import type { Actor, Controller } from './port.ts'
import type { StatusOptions } from './status-page.ts'

/** All inputs of the server. It reads no environment and no file that is not named here. */
export interface ServerOptions {
  readonly controller: Controller
  readonly clock: Clock
  /** Version of croft, for the page and the API document. */
  readonly version: string
  /** 0 picks a free one. */
  readonly port: number
  /** Default: loopback. */
  readonly host?: string
  /** Host names that it accepts in addition to loopback and its listen address: `croft.lan`. */
  readonly names?: readonly string[]
  /** How browsers reach it through a proxy: `https://croft.lan`. Its cookies then demand HTTPS. */
  readonly publicUrl?: string
  /** Files of users and of API tokens. Without them there is no sign-in, and the server is read-only. */
  readonly usersFile?: string
  readonly tokensFile?: string
  readonly oidc?: OidcOptions
  /** Addresses of proxies whose X-Forwarded-For is believed. */
  readonly trustedProxies?: readonly string[]
  /** Reading needs a session or a token as well: API, stream and metrics. */
  readonly signedInOnly?: boolean
  /** A page at /status that is public even if reading needs a session. Absent: none. */
  readonly status?: StatusOptions
  /** Requires a second factor from all users for approving and switching off. */
  readonly needsSecondFactor?: boolean
  /** Directory of the built page. Default: found automatically. */
  readonly page?: string
  readonly webhook?: Webhook
  /** The text of /metrics in Prometheus' form. */
  readonly metrics?: () => string | Promise<string>
  /** Reports whether the process (not the estate) is healthy. Default: always. */
  readonly healthy?: () => boolean
  /** Called with unexpected errors. */
  readonly warn?: (message: string) => void
  /** Called with each request that was refused or granted, for the audit log. */
  readonly audit?: (entry: AuditRequest) => void
}

/** Judges a push notice: its signature, and whether it is new. The server has already bounded and counted it. */
export type Webhook = (push: {
  readonly source: string
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly body: Buffer
}) => WebhookVerdict | Promise<WebhookVerdict>

export type WebhookVerdict =
  /** Look now. */
  | { readonly take: 'poke' }
  /** Well formed and not about what is followed: a ping, another branch. */
  | { readonly take: 'ignore' }
  | { readonly take: 'refuse'; readonly status: 400 | 401 | 404 | 409; readonly message: string }

export interface AuditRequest {
  readonly atMs: number
  readonly actor: Actor | { readonly name: 'nobody'; readonly from: 'page' | 'api' }
  /** `approve`, `sign-in`, `reconcile`… */
  readonly what: string
  /** The input in JSON, without any secret. */
  readonly about: string
  readonly result: 'done' | 'refused'
  readonly message: string
}

export interface RunningServer {
  /** `http://127.0.0.1:8087` */
  readonly url: string
  readonly port: number
  /** Ends streams, lets running answers finish, then closes the remaining connections. */
  close(): Promise<void>
}
