import type { World } from './types.ts'

/**
 * Does something answer at an address? Other machines do, as far as this world knows; on the host itself only what was
 * put there, which is where downloads were published.
 */
export function answers(world: World, host: string, port: number): boolean {
  if (!/^(127\.\d+\.\d+\.\d+|localhost|::1|\[::1\])$/.test(host)) return true
  for (const url of world.downloads.keys()) {
    const place = new URL(url)
    if (place.hostname === host && portOf(place) === port) return true
  }
  return false
}

export function portOf(place: URL): number {
  return Number(place.port || (place.protocol === 'https:' ? 443 : 80))
}
