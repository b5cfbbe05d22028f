import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTestClient } from '../../../test-client.ts'

test('repositories: what cannot be read is refused first, and a switch stays in its place', async () => {
  const client = createTestClient({ preset: 'recording' })
  const at = '/nodes/pve1/apt/repositories'
  const [path, index] = ['/etc/apt/sources.list.d/pve-enterprise.sources', '0']
  const answer = await client.call('POST', at, { path: '/nope', index: '-1', digest: 'abc' })
  assert.equal(answer.reason, 'error: invalid value: integer `-1`, expected usize')
  interface Read {
    readonly files: {
      readonly path: string
      readonly repositories: { readonly Options: { Key: string; Values: string[] }[] }[]
    }[]
  }
  const options = async () => {
    const { files } = await client.data<Read>('GET', at)
    return files
      .find((file) => file.path === path)
      ?.repositories[0]?.Options.map(({ Key, Values }) => `${Key}=${Values.join()}`)
  }
  await client.data('POST', at, { path, index, enabled: '0' })
  const first = await options()
  await client.data('POST', at, { path, index, enabled: '1' })
  assert.deepEqual(
    await options(),
    first?.map((option) => option.replace('Enabled=false', 'Enabled=true')),
  )
  assert.equal(first?.at(-1), 'Enabled=false')
})
