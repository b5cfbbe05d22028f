import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { etcdMayFollow, RELEASES, releaseOf } from '../../k3s/releases.ts'
import { compareVersions } from '../../k3s/version.ts'
import { planHops } from './hops.ts'

const hops = (from: string, to: string, changed: 'yes' | 'no' | 'unknown' = 'yes') => {
  const plan = planHops(from, to, changed)
  return 'hops' in plan ? plan.hops : plan.refused
}

describe('[A33] hops', () => {
  test('v1.33.6 to v1.35.0: a release with etcd 3.5.26, then a 1.34, then the pin', () => {
    assert.deepEqual(hops('v1.33.6+k3s1', 'v1.35.0+k3s1'), ['v1.33.8+k3s1', 'v1.34.3+k3s1', 'v1.35.0+k3s1'])
  })

  test('v1.33.6 to v1.33.13 gets the same hop: the minor does not tell', () => {
    assert.deepEqual(hops('v1.33.6+k3s1', 'v1.33.13+k3s1'), ['v1.33.10+k3s1', 'v1.33.13+k3s1'])
    assert.deepEqual(hops('v1.33.6+k3s1', 'v1.33.11+k3s1'), ['v1.33.10+k3s1', 'v1.33.11+k3s1'])
    assert.deepEqual(hops('v1.33.6+k3s1', 'v1.33.10+k3s1'), ['v1.33.10+k3s1'])
  })

  test('unknown counts as changed; a membership that never changed needs no such hop', () => {
    assert.deepEqual(hops('v1.33.6+k3s1', 'v1.33.13+k3s1', 'unknown'), ['v1.33.10+k3s1', 'v1.33.13+k3s1'])
    assert.deepEqual(hops('v1.33.6+k3s1', 'v1.33.13+k3s1', 'no'), ['v1.33.13+k3s1'])
  })

  test('from the gate on it goes straight', () => {
    assert.deepEqual(hops('v1.33.7+k3s3', 'v1.34.4+k3s1'), ['v1.34.4+k3s1'])
    assert.deepEqual(hops('v1.34.3+k3s1', 'v1.35.0+k3s1'), ['v1.35.0+k3s1'])
  })

  test('no minor is skipped, and releases in between are no younger than the target', () => {
    assert.deepEqual(hops('v1.30.4+k3s1', 'v1.36.3+k3s1'), [
      'v1.31.14+k3s1',
      'v1.32.13+k3s1',
      'v1.33.13+k3s2',
      'v1.34.10+k3s1',
      'v1.35.7+k3s1',
      'v1.36.3+k3s1',
    ])
    assert.deepEqual(hops('v1.32.5+k3s1', 'v1.34.10+k3s1'), ['v1.33.10+k3s1', 'v1.34.10+k3s1'])
  })

  test('a downgrade is refused, and so is what is not in the table or no exact release', () => {
    assert.match(String(hops('v1.35.0+k3s1', 'v1.34.3+k3s1')), /v1\.34\.3\+k3s1 is older than v1\.35\.0\+k3s1/)
    assert.match(String(hops('v1.33.7+k3s3', 'v1.33.7+k3s1')), /is older/)
    assert.match(String(hops('v1.34.3+k3s1', 'v1.99.0+k3s1')), /not in the table/)
    assert.match(String(hops('v1.29.1+k3s1', 'v1.30.4+k3s1')), /v1\.29\.1\+k3s1 is not in the table/)
    assert.match(String(hops('v1.34.3+k3s1', 'stable')), /not an exact K3s release/)
    assert.deepEqual(hops('v1.29.1+k3s1', 'v1.29.1+k3s1'), [], 'nothing to do needs no table')
  })

  test('a release that came out after the table was written is reached from where any etcd may follow', () => {
    const newest = RELEASES.at(-1)?.version ?? ''
    const [, minor = '', patch = ''] = /^v1\.(\d+)\.(\d+)/.exec(newest) ?? []
    const later = (more: number) => `v1.${minor}.${Number(patch) + more}+k3s1`
    const next = `v1.${Number(minor) + 1}.0+k3s1`
    assert.deepEqual(hops(newest, later(1)), [later(1)])
    assert.deepEqual(hops(later(1), later(2)), [later(2)])
    assert.deepEqual(hops(newest, next), [next])
    assert.deepEqual(hops(later(1), next), [next])
    assert.match(String(hops(later(2), later(1))), /is older/)
    assert.match(String(hops(newest, `v1.${Number(minor) + 2}.0+k3s1`)), /not in the table/)
  })

  test('and where its etcd may be 3.6, only over 3.5.26', () => {
    assert.deepEqual(hops('v1.33.6+k3s1', 'v1.33.99+k3s1'), ['v1.33.10+k3s1', 'v1.33.99+k3s1'])
    assert.match(String(hops('v1.33.6+k3s1', 'v1.33.6+k3s9')), /not in the table/, 'between two known ones')
  })

  test('where no safe way is known, it says why', () => {
    const few = RELEASES.filter(({ version }) => ['v1.33.6+k3s1', 'v1.34.3+k3s1', 'v1.31.0+k3s1'].includes(version))
    const refused = (from: string) => {
      const plan = planHops(from, 'v1.34.3+k3s1', 'yes', few)
      return 'refused' in plan ? plan.refused : plan.hops.join()
    }
    assert.equal(
      refused('v1.33.6+k3s1'),
      'etcd 3.5.21 must become 3.5.26 before 3.6.6, and no known release between v1.33.6+k3s1 and v1.34.3+k3s1 carries it',
    )
    assert.match(refused('v1.31.0+k3s1'), /must become 3\.5\.26|without skipping/)
  })

  test('every pair of known releases: sound at each hop, ending at the pin, and the same from the middle', () => {
    let ways = 0
    for (const from of RELEASES) {
      for (const to of RELEASES) {
        if (compareVersions(from.version, to.version) >= 0) continue
        const plan = planHops(from.version, to.version, 'yes')
        assert.ok('hops' in plan, `${from.version} to ${to.version}`)
        ways += 1
        assert.equal(plan.hops.at(-1), to.version)
        let at = from
        for (const hop of plan.hops) {
          const next = releaseOf(hop)
          assert.ok(next)
          const told = `${from.version} to ${to.version} over ${plan.hops.join(' ')}`
          assert.ok(compareVersions(at.version, next.version) < 0, `${told}: back`)
          assert.ok(next.minor - at.minor <= 1, `${told}: skips a minor`)
          assert.ok(etcdMayFollow(at, next), `${told}: etcd`)
          at = next
        }
        const [first = '', ...rest] = plan.hops
        assert.deepEqual(hops(first, to.version), rest, `${from.version} to ${to.version}: another way from the middle`)
      }
    }
    assert.equal(ways, (RELEASES.length * (RELEASES.length - 1)) / 2)
  })
})
