import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { planHops } from '../plan/clusters/hops.ts'
import { mendedRelease, RELEASE_TRAPS, trapIn } from './release-traps.ts'
import { RELEASES, releaseOf } from './releases.ts'
import { compareVersions, minorOf } from './version.ts'

describe('each release with a trap', () => {
  for (const { releases, mendedIn, source } of RELEASE_TRAPS)
    for (const [at, version] of releases.entries())
      test(`${version} is in the table, has a source, and is mended by the next of its minor`, () => {
        const mended = mendedIn[at] ?? ''
        assert.match(source, /^https:\/\/github\.com\/k3s-io\/k3s\/(?:issues|pull)\/\d+$/)
        assert.ok(releaseOf(version) && releaseOf(mended))
        assert.equal(minorOf(mended), minorOf(version))
        assert.equal(trapIn(mended), undefined)
        assert.equal(mendedRelease(version), mended)
        const between = RELEASES.filter(
          (one) => compareVersions(one.version, version) > 0 && compareVersions(one.version, mended) < 0,
        )
        assert.deepEqual(between, [])
      })

  test('is never a hop between two others, whatever the way', () => {
    const all = RELEASES.map(({ version }) => version)
    let ways = 0
    for (const from of all)
      for (const to of all) {
        if (compareVersions(from, to) >= 0) continue
        const plan = planHops(from, to, 'yes')
        if (!('hops' in plan)) continue
        ways++
        const rests = plan.hops.slice(0, -1).filter((hop) => trapIn(hop) !== undefined)
        assert.deepEqual(rests, [], `${from} to ${to}: ${plan.hops.join(' ')}`)
      }
    assert.ok(ways > 3000, `${ways}`)
  })
})
