import { readdirSync } from 'node:fs'
import { ofOthers, readOfOthers } from './evidence/of-others.ts'

/** A manifest that people have, exactly as it was printed. */
export interface SeedManifest {
  /** `001:132`: which text, and the line where it begins. */
  readonly place: string
  readonly kind: string
  readonly text: string
}

/** The printed manifests of Crossplane's kinds, in the order in which they stand. */
export function seedManifests(): readonly SeedManifest[] {
  const files = readdirSync(ofOthers('seeds'))
    .filter((name) => /^(000|001|004)_.*\.txt$/.test(name))
    .sort()
  return files.flatMap((file) => manifestsIn(file.slice(0, 3), readOfOthers(`seeds/${file}`)))
}

/** The one manifest at this place; the texts never change, so neither does the place. */
export function seedManifest(place: string): SeedManifest {
  const found = seedManifests().find((manifest) => manifest.place === place)
  if (found === undefined) throw new Error(`there is no manifest at ${place} of the seeds`)
  return found
}

function manifestsIn(name: string, text: string): readonly SeedManifest[] {
  return [...text.matchAll(/^```ya?ml\n([\s\S]*?)^```/gm)].flatMap((block) => {
    const manifest = block[1] ?? ''
    const kind = /^kind: (Environment\w+|ProviderConfig)$/m.exec(manifest)?.[1]
    if (kind === undefined) return []
    const line = text.slice(0, block.index).split('\n').length + 1
    return [{ place: `${name}:${line}`, kind, text: manifest }]
  })
}
