import type { PowerState, Sighting } from '../../model/sighting.ts'

export function powerOf(sighting: Sighting): PowerState {
  return sighting.close?.power ?? sighting.power ?? 'unknown'
}

export function isUp(power: PowerState): boolean {
  return power === 'running' || power === 'paused'
}
