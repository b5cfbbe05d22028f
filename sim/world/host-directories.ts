import type { World } from './types.ts'

/** The directories of a host: those that are always there, and those of its storages. */
export function hasDirectory(world: World, path: string): boolean {
  if (/^\/(var|var\/lib|mnt|srv|root|tmp|etc|home)?\/?$/.test(path)) return true
  return /^\/(var\/lib\/vz|mnt|srv)/.test(path) || [...world.storages.values()].some((entry) => entry.path === path)
}
