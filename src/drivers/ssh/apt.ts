import { type Command, run } from './command.ts'

const APT = ['env', 'DEBIAN_FRONTEND=noninteractive', 'apt-get', '-y', '-o', 'DPkg::Lock::Timeout=120'] as const
/** A small computer with a slow line, and an initramfs for each of its kernels. */
const LONG_MS = 900_000

/** One call of apt-get that changes packages. */
export function apt(...words: readonly string[]): Extract<Command, { readonly do: 'run' }> {
  return { ...run(...APT, ...words), packages: true, timeoutMs: LONG_MS } as Extract<Command, { readonly do: 'run' }>
}

/** A package in the version that was there, or in the one that there is where the archive has moved on. */
export function aptBack(name: string, version: string): readonly Command[] {
  const install = ['install', '--no-install-recommends'] as const
  return [
    { ...apt(...install, '--allow-downgrades', '--', `${name}=${version}`), ok: [0, 100] },
    apt(...install, '--no-upgrade', '--', name),
  ]
}
