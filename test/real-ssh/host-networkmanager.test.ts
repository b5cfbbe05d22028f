import { test } from 'node:test'
import { comesAndGoes } from './network-case.ts'
import { labWith } from './with-lab.ts'

const { lab, within } = labWith(['cow'])

test(
  'NetworkManager: addresses of both families come, are taken back by the host when they cut us off, and go again',
  within,
  async () => {
    await comesAndGoes(await lab(), {
      manager: 'networkmanager',
      file: 'etc/NetworkManager/system-connections/croft-eth0.nmconnection',
      setUp: ({ address }) => [
        '/etc/NetworkManager/system-connections/base.nmconnection',
        `[connection]\nid=base\ntype=ethernet\ninterface-name=eth0\n\n[ipv4]\nmethod=manual\naddress1=${address}/24\n`,
        'rm /etc/systemd/system/NetworkManager.service; systemctl daemon-reload; systemctl start NetworkManager; nmcli connection up base',
      ],
    })
  },
)
