const UNITS: Record<string, number> = { '': 1, K: 1024, M: 1024 ** 2, G: 1024 ** 3, T: 1024 ** 4 }

/** `10G`, `512M`, `4096` → bytes. Undefined when it is no size. */
export function parseSize(text: string): number | undefined {
  const match = /^(\d+(?:\.\d+)?)([KMGT]?)$/.exec(text)
  return match ? Math.floor(Number(match[1]) * (UNITS[match[2] ?? ''] ?? 1)) : undefined
}

/** The way Proxmox writes the size of a disk: the largest unit that divides it. */
export function printSize(bytes: number): string {
  if (bytes === 0) return '0T'
  for (const unit of ['T', 'G', 'M', 'K']) {
    const size = UNITS[unit] ?? 1
    if (bytes % size === 0) return `${bytes / size}${unit}`
  }
  return `${bytes}`
}

export const GIB = 1024 ** 3
export const MIB = 1024 ** 2
