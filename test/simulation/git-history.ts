import { changedEstate, type Estate, type Removed } from '../../src/model/estate.ts'

/** The estate after a commit that took something out, with a repository that remembers it. */
export function committedAfter(before: Estate, after: Estate, commit = 'c'.repeat(40)): Estate {
  const left = new Set(after.resources.map(({ key }) => key))
  const removed = new Map(
    before.resources.flatMap(({ key, policy }): [string, Removed][] =>
      left.has(key) ? [] : [[key, { commit, policy }]],
    ),
  )
  return changedEstate(after, (estate) => ({
    ...estate,
    history: async (keys) => new Map([...removed].filter(([key]) => keys.includes(key))),
  }))
}
