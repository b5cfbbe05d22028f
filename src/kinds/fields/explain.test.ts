import assert from 'node:assert/strict'
import { test } from 'node:test'
import { errorsOf, readText, vmManifest } from '../../source/testing/fixture.ts'

test('a value that only Terraform would have filled in is named as that, whatever is expected there', () => {
  const hints = (fields: string) => errorsOf(readText(vmManifest(fields))).map(({ hint }) => hint)
  const said = 'it is an expression of Terraform, which nothing works out here: write the value itself'
  // biome-ignore lint/suspicious/noTemplateCurlyInString: as it stands in examples of the provider.
  const table = ['vmId: ${proxmox_virtual_environment_vm.a.vm_id}', 'poolId: ${data.proxmox_pool.a.id}']
  for (const fields of table) assert.deepEqual(hints(fields), [said], fields)
})
