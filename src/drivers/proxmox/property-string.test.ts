import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { parseProperties, parseSize, printProperties } from './property-string.ts'

const name = fc.stringMatching(/^[a-z][a-z0-9_-]{0,12}$/)
const value = fc.stringMatching(/^[A-Za-z0-9:;/.+-]{1,20}$/)

describe('property strings', () => {
  it('print and parse are each other’s inverse', () => {
    fc.assert(
      fc.property(fc.dictionary(name, value), fc.option(value), (parts, first) => {
        const properties = new Map(Object.entries(parts))
        properties.delete('file')
        if (first !== null) properties.set('file', first)
        const again = parseProperties(printProperties(properties, 'file'), 'file')
        assert.deepEqual(again, properties)
      }),
    )
  })

  it('order and spaces carry no meaning', () => {
    const one = parseProperties('local:100/vm-100-disk-0.raw,iothread=1,size=8G', 'file')
    const other = parseProperties(' size=8G , iothread=1,file=local:100/vm-100-disk-0.raw', 'file')
    assert.deepEqual(one, other)
  })

  it('a default value that holds "=" is printed with its key', () => {
    assert.equal(printProperties(new Map([['file', 'a=b']]), 'file'), 'file=a=b')
    assert.equal(parseProperties('file=a=b', 'file').get('file'), 'a=b')
  })

  it('empty text has no parts', () => assert.equal(parseProperties(' ', 'file').size, 0))

  for (const [text, bytes] of [
    ['8G', 8 * 2 ** 30],
    ['528K', 528 * 1024],
    ['64M', 64 * 2 ** 20],
    ['0T', 0],
    ['1.5T', 1.5 * 2 ** 40],
    ['512', 512],
    ['-1G', undefined],
    ['1e9', undefined],
    ['', undefined],
  ] as const) {
    it(`size ${JSON.stringify(text)} is ${bytes}`, () => assert.equal(parseSize(text), bytes))
  }
})
