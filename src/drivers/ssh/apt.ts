import { type Command, run } from './command.ts'

const APT = ['env', 'DEBIAN_FRONTEND=noninteractive', 'apt-get', '-y', '-o', 'DPkg::Lock::Timeout=120'] as const
/** Enough for a small computer with a slow line, and an initramfs per kernel. */
const LONG_MS = 900_000

/** Returns one call of apt-get that changes packages. */
export function apt(...words: readonly string[]): Extract<Command, { readonly do: 'run' }> {
  return { ...run(...APT, ...words), packages: true, timeoutMs: LONG_MS } as Extract<Command, { readonly do: 'run' }>
}

/** Restores a package's version, or the available one if the archive no longer has it. */
export function aptBack(name: string, version: string): readonly Command[] {
  const install = ['install', '--no-install-recommends'] as const
  return [
    { ...apt(...install, '--allow-downgrades', '--', `${name}=${version}`), ok: [0, 100] },
    apt(...install, '--no-upgrade', '--', name),
  ]
}
