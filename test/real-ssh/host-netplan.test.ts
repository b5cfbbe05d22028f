import { test } from 'node:test'
import { comesAndGoes } from './network-case.ts'
import { labWith } from './with-lab.ts'

const { lab, within } = labWith(['cow'])

test(
  'netplan: addresses of both families come, are taken back by the host when nobody confirms, and go again',
  within,
  async () => {
    await comesAndGoes(await lab(), {
      manager: 'netplan',
      file: 'etc/netplan/90-croft-eth0.yaml',
      setUp: ({ address }) => [
        '/etc/netplan/01-base.yaml',
        `network: {version: 2, renderer: networkd, ethernets: {eth0: {addresses: [${address}/24]}}}\n`,
        // There is no udev in a container, and netplan wants to tell it something.
        'printf "#!/bin/sh\\n" >/usr/local/sbin/udevadm; chmod 755 /usr/local/sbin/udevadm; netplan apply; networkctl status eth0',
      ],
    })
  },
)
