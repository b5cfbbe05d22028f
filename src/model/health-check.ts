import type { SecretReference } from './secret.ts'

/** A question that is asked again and again, and whose answer says whether something works. */
export interface HealthCheckSpec {
  readonly everyMs: number
  readonly timeoutMs: number
  /** So many bad answers in a row before it counts as failed: one lost packet is no outage. */
  readonly failures: number
  readonly probe: Probe
}

export type Probe =
  | { readonly ask: 'tcp'; readonly host: string; readonly port: number }
  | {
      readonly ask: 'http'
      readonly url: string
      readonly status: readonly number[]
      readonly contains?: string
      readonly token?: SecretReference
      /** SHA-256 of the certificate, where the system's trust store does not know it. */
      readonly fingerprint?: string
    }
  | {
      readonly ask: 'dns'
      readonly name: string
      readonly type: 'A' | 'AAAA' | 'CNAME' | 'TXT'
      readonly server?: string
      readonly expect?: string
    }
  /** Does the API of a cluster answer, and are all of its nodes ready? */
  | { readonly ask: 'cluster'; readonly cluster: string }
  /** A program on a machine or a host, by the lane that reaches it. It passes when it ends with 0. */
  | { readonly ask: 'command'; readonly on: string; readonly run: readonly string[] }
