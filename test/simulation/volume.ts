/** How much to run: a minute's worth in the ordinary run, everything with `npm run test:long`. */
export const LONG = process.env.CROFT_LONG === '1'

/** The seeds to run: one when a failure is replayed, else as many as the volume says, or CROFT_SEEDS allows. */
export function seeds(ordinary: number, long: number): readonly number[] {
  const replayed = process.env.CROFT_SEED
  if (replayed !== undefined) return [Number(replayed)]
  const most = Number(process.env.CROFT_SEEDS ?? Number.POSITIVE_INFINITY)
  return Array.from({ length: Math.min(most, LONG ? long : ordinary) }, (_, i) => i + 1)
}

/** The crash points to run of those there are; spread evenly when not all fit. */
export function points(all: number, ordinary: number): readonly number[] {
  const replayed = process.env.CROFT_POINT
  if (replayed !== undefined) return [Number(replayed)]
  const step = LONG ? 1 : Math.max(1, all / ordinary)
  return [...new Set(Array.from({ length: Math.ceil(all / step) }, (_, i) => Math.min(all, Math.floor(i * step) + 1)))]
}

/** The one command that runs exactly this again; every assertion carries it. */
export function replay(file: string, seed: number, point?: number): string {
  const at = point === undefined ? '' : `CROFT_POINT=${point} `
  return `to replay: CROFT_SEED=${seed} ${at}node bin/run scripts/test.ts test/simulation/${file}`
}
