import './style/tokens.css'
import './style/base.css'
import './style/side.css'
import './style/activity.css'
import './style/shell.css'
import './style/parts.css'
import './style/code.css'
import './style/blocks.css'
import './style/overlays.css'
import './style/views.css'
import './style/hosts.css'
import './style/overview.css'
import './style/estate.css'
import './style/plan.css'
import './style/change.css'
import './style/clusters.css'
import './style/tree.css'
import './style/power.css'
import './style/course.css'
import './style/console.css'
import { render } from 'preact'
import { App } from './app.tsx'
import { listenToKeys } from './keyboard.ts'
import { follow } from './live.ts'
import { paint } from './theme.ts'

paint()
listenToKeys()
const ground = document.getElementById('app')
if (ground !== null) {
  ground.textContent = ''
  render(<App />, ground)
}
void follow()
