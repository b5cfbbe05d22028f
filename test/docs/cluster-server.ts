import { renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createScaledClock } from '../../sim/scaled-clock.ts'
import { type ServedNode, serveApi } from '../../sim/testing/served-api.ts'

/** A cluster for the kubectl of a reader. The arguments are the directory that tells the way there, and its node. */
const [, , directory = '.', node = '{}'] = process.argv
const api = await serveApi(createScaledClock(20), JSON.parse(node) as ServedNode)
writeFileSync(join(directory, 'proxy'), api.proxy.url)
// Renamed into place, so that a reader finds it whole.
writeFileSync(join(directory, 'config.new'), api.kubeconfig, { mode: 0o600 })
renameSync(join(directory, 'config.new'), join(directory, 'config'))
