import type { SecretReference, SshTarget } from './secret.ts'

/** A probe that is repeated, and whose answers show whether something works. */
export interface HealthCheckSpec {
  readonly everyMs: number
  readonly timeoutMs: number
  /** Failures in a row before it counts as failed: one lost packet is no outage. */
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
      /** SHA-256 of the certificate, if the system's trust store does not know it. */
      readonly fingerprint?: string
    }
  | {
      readonly ask: 'dns'
      readonly name: string
      readonly type: 'A' | 'AAAA' | 'CNAME' | 'TXT'
      readonly server?: string
      readonly expect?: string
    }
  /** Whether the API of a cluster answers and all of its nodes are ready. */
  | { readonly ask: 'cluster'; readonly cluster: string }
  /** A program on a machine or a host, through its lane. It passes with exit code 0. */
  | {
      readonly ask: 'command'
      readonly on: string
      readonly run: readonly string[]
      /** SSH access to the Host of that name, if there is one. */
      readonly host?: SshTarget
    }

export interface ProbeAnswer {
  readonly passed: 'yes' | 'no' | 'unknown'
  readonly output: string
}

/** Runs one probe. Rejects if there is no answer; the caller sets the timeout. */
export type ProbeFunction = (probe: Probe, signal: AbortSignal) => Promise<ProbeAnswer>

/** Returns the answer that a command's exit code and output give. */
export function commandAnswer(code: number, stdout: string, stderr: string): ProbeAnswer {
  const said = `${stdout}${stderr}`.trim()
  return { passed: code === 0 ? 'yes' : 'no', output: said === '' ? `it ended with ${code}` : said }
}

/** A probe without an answer, in plain words for common error codes. */
export function unanswered(error: unknown): ProbeAnswer {
  const why = error instanceof Error ? ('code' in error ? String(error.code) : error.message) : String(error)
  const words = WORDS[why]
  return { passed: 'no', output: words === undefined ? why : `${words} (${why})` }
}

const WORDS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens there',
  ECONNRESET: 'the connection was cut',
  EHOSTUNREACH: 'there is no route to it',
  ENETUNREACH: 'there is no route to it',
  ETIMEDOUT: 'no answer',
  ENOTFOUND: 'the name cannot be resolved',
  ENODATA: 'the name has no such record',
  EAI_AGAIN: 'the name server does not answer',
}

/** Returns the answer after its target: `192.168.4.80:443: nothing listens there`. Pure. */
export function withTarget(probe: Probe, answer: ProbeAnswer): ProbeAnswer {
  const target = targetOf(probe)
  if (target === undefined || answer.output.startsWith(target)) return answer
  return { ...answer, output: `${target}: ${answer.output}` }
}

function targetOf(probe: Probe): string | undefined {
  switch (probe.ask) {
    case 'tcp':
      return `${probe.host}:${probe.port}`
    case 'http': {
      // Without password and query: either may be a secret.
      const url = URL.parse(probe.url)
      return url === null ? undefined : `${url.origin}${url.pathname}`
    }
    case 'dns':
      return `${probe.type} of ${probe.name}${probe.server === undefined ? '' : ` at ${probe.server}`}`
    // Their answers are about the check's machine or cluster.
    case 'command':
    case 'cluster':
      return undefined
  }
}
