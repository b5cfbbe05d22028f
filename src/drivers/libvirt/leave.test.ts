import assert from 'node:assert/strict'
import { test } from 'node:test'
import { writeValue } from './domain-write.ts'
import { readMark } from './marks.ts'
import { parseXml, printXml } from './xml.ts'

const UUID = '11111111-2222-3333-4444-555555555555'
const domain = (description: string, metadata: string) =>
  `<domain type='kvm'><name>web</name><uuid>${UUID}</uuid>${description}<metadata>${metadata}</metadata><memory unit='KiB'>524288</memory></domain>`
const MARK = `<croft:machine xmlns:croft='https://croft.dev/libvirt/1' uid='0123456789abcdef' id='${UUID}' owner='Machine/web'/>`
const OTHER = `<app:thing xmlns:app='https://example.org/1'/>`

test('leaving a domain takes out its mark and our line of the description, and nothing else', () => {
  const text = (description: string, metadata: string) => {
    const parsed = parseXml(domain(description, metadata))
    assert.ok(parsed)
    return parsed
  }
  const cases: readonly (readonly [string, string])[] = [
    ['<description>Kept by croft: Machine/web of estate home</description>', ''],
    ['<description>of the attic\nKept by croft: Machine/web</description>', '<description>of the attic</description>'],
    ['', ''],
  ]
  for (const [before, after] of cases) {
    const marked = text(before, `${OTHER}${MARK}`)
    assert.ok(readMark(marked))
    assert.equal(writeValue(marked, 'mark', null, { networks: new Set(), pools: new Map() } as never), true)
    assert.equal(printXml(marked), printXml(text(after, OTHER)))
  }
})
