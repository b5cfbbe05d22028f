import type { Stage } from './stage.ts'

/** The check that people run on their own hardware; with a spare host also a restore there. */
export async function selftested(stage: Stage, ...more: readonly string[]): Promise<string> {
  const { out } = await stage.mustCroft(['selftest', 'lab', ...more], 900)
  return (out.trim().split('\n').at(-1) ?? '').slice(0, 140)
}
