import { withOneFault } from '../with-one-fault.ts'

withOneFault('an agent leaves')
