import { withOneFault } from '../with-one-fault.ts'

withOneFault('two servers become agents')
