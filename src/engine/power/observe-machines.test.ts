import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ObservedPowerHost } from '../../model/observed-power.ts'
import type { Resource } from '../../model/resource.ts'
import { EMPTY, host, specWith } from '../../plan/power/testing/fixture.ts'
import { estateOf, FAKE_RULES, guest, ledgerWith, machine, recordOf, worldWith } from '../../plan/testing/fixture.ts'
import { identifyAll } from '../../plan/things/identify-all.ts'
import { declaredGuests, guestsOn, machinesOf, rolesIn } from './observe-machines.ts'

const stopped: Resource = {
  ...machine('spare'),
  desired: { type: 'vm', vm: { host: 'alpha', name: 'spare', power: 'stopped', disks: [], nics: [] } },
}
const file: Resource = {
  ...machine('image'),
  key: 'ImageFile/image',
  desired: { type: 'file', file: { host: 'alpha', storage: 'local', name: 'x.iso', content: 'iso' } },
} as unknown as Resource

const web = machine('web')
const gone = machine('gone')
const estate = estateOf([web, gone, stopped, file])
const ledger = ledgerWith({ known: [recordOf(gone, { host: 'beta' })] })
const found = identifyAll({
  estate,
  ledger,
  worlds: new Map([['default', worldWith([guest(101, { of: 'Machine/web' }), guest(102, { of: 'Machine/spare' })])]]),
  rules: new Map([['fake', FAKE_RULES]]),
})

test('of everything declared, machines are what power is about, each where it was seen last', () => {
  const guests = declaredGuests(estate, found, ledger)
  assert.deepEqual(
    [...guests].map(([key, { exists, declaredOff, host: on }]) => [key, exists, declaredOff, on]),
    [
      ['Machine/web', 'yes', false, 'alpha'],
      ['Machine/gone', 'no', false, 'beta'],
      ['Machine/spare', 'yes', true, 'alpha'],
    ],
  )
  assert.equal(declaredGuests(estate, new Map(), ledger).get('Machine/web')?.exists, 'unknown')
})

test('a Power switches the machines on its hosts, those that it names, and none that is declared to be off', () => {
  const guests = declaredGuests(estate, found, ledger)
  const on = (name: string, power: ObservedPowerHost['power'] = 'on'): ObservedPowerHost => ({
    name,
    power,
    guests: EMPTY,
  })
  const seen = (more: Parameters<typeof specWith>[0], hosts: readonly ObservedPowerHost[]) =>
    machinesOf(specWith(more), guests, rolesIn(specWith(more), guests, undefined, estate), hosts).map(
      ({ name, role, power, host: place }) => `${name} ${role} ${power} ${place ?? '-'}`,
    )
  const alpha = host('rack', { connection: 'default', node: 'alpha' })
  assert.deepEqual(seen({}, []), [])
  assert.deepEqual(seen({ hosts: [alpha] }, [on('rack')]), ['web machine on rack'])
  assert.deepEqual(
    seen({ hosts: [alpha] }, [on('rack', 'off')]),
    ['web machine off rack'],
    'none runs without its host',
  )
  assert.deepEqual(seen({ machines: ['Machine/gone'] }, []), ['gone machine unknown -'])
  assert.deepEqual(seen({ hosts: [alpha], infrastructure: ['Machine/web'] }, [on('rack')]), [
    'web infrastructure on rack',
  ])
})

test('every running guest of a host is switched by this Power, by another, or declared by nobody', () => {
  const [lab, prod, spare] = [machine('lab-1'), machine('prod-1'), stopped]
  const cluster = (name: string, key: string) => ({ name, spec: { servers: [{ machine: { key } }], agents: [] } })
  const both = {
    ...estateOf([lab, prod, spare]),
    clusters: [cluster('lab', lab.key), cluster('prod', prod.key)] as never,
  }
  const running = (id: number, of?: string) => guest(id, { power: 'running', ...(of === undefined ? {} : { of }) })
  const world = worldWith([running(101, lab.key), running(102, prod.key), running(103, spare.key), running(900)])
  const worlds = new Map([['default', world]])
  const seen = identifyAll({ estate: both, ledger, worlds, rules: new Map([['fake', FAKE_RULES]]) })
  const rack = host('rack', { connection: 'default', node: 'alpha' })
  const spec = specWith({ cluster: 'lab', hosts: [rack] })
  const look = { declaration: { spec: { servers: [{ machine: { key: lab.key } }] } } } as never
  const roles = rolesIn(spec, declaredGuests(both, seen, ledger), look, both)
  const guests = guestsOn(rack, world.survey, both, roles)
  assert.ok(guests !== 'unknown')
  assert.deepEqual([guests.mine, guests.others], [[lab.key], [prod.key, spare.key]])
  assert.equal(guests.undeclared.length, 1)
  assert.equal(guestsOn(rack, undefined, both, roles), 'unknown', 'a list that could not be read says nothing')
  assert.deepEqual(guestsOn(host('box', { connection: undefined as never }), undefined, both, roles), EMPTY)
})
