// Opens an .om file as Netron does, without a window, and prints what it shows as JSON.
//
//   node open.mjs FOLDER FILE
//
// FOLDER holds Netron's own JavaScript (the folder `netron` of its wheel). Exits with 1 and the
// message on stderr where Netron would show an error.

import * as fs from 'fs';
import * as path from 'path';
import { pathToFileURL } from 'url';

// Values of larger tensors are not printed.
const MAX_BYTES = 1024;

const [folder, file] = process.argv.slice(2);

const load = (name) => import(pathToFileURL(path.resolve(folder, name)).href);

// What the loader asks of the application around it.
class Host {
    constructor(stream) {
        this.stream = stream;
        this.identifier = path.basename(file);
        this.entries = new Map();
    }

    environment() {
        return null;
    }

    async require(id) {
        return load(`${id}.js`);
    }

    async asset(name) {
        return fs.readFileSync(path.resolve(folder, name), 'utf-8');
    }

    async request(name) {
        return this.asset(name);
    }

    error(error) {
        throw error;
    }
}

const describeType = (type) => {
    if (!type) {
        return null;
    }
    const shape = type.shape ? type.shape.dimensions.map((dim) => Number(dim)) : null;
    return { dtype: type.dataType, shape };
};

const describeValue = (base, value) => {
    const described = { name: value.name, type: describeType(value.type), bytes: null, data: null };
    if (value.initializer) {
        const tensor = new base.Tensor(value.initializer);
        described.bytes = tensor.empty ? 0 : value.initializer.values.length;
        described.data = described.bytes > 0 && described.bytes <= MAX_BYTES ? tensor.value : null;
    }
    return described;
};

const describePort = (base, port) => ({
    name: port.name,
    values: port.value.map((value) => describeValue(base, value))
});

const describeAttribute = (view, attribute) => {
    // The text of the side bar: an attribute that cannot be shown throws here.
    const text = new view.Formatter(attribute.value, attribute.type).toString();
    return [attribute.name, text];
};

const describeNode = ({ base, view }, node) => ({
    name: node.name,
    type: node.type.name,
    inputs: node.inputs.map((port) => describePort(base, port)),
    outputs: node.outputs.map((port) => describePort(base, port)),
    attributes: Object.fromEntries(
        node.attributes.map((attribute) => describeAttribute(view, attribute))
    ),
    control: (node.controlDependencies || []).length
});

const plain = (_, value) => typeof value === 'bigint' ? Number(value) : value;

const main = async () => {
    const base = await load('base.js');
    const view = await load('view.js');
    const { FileStream } = await load('node.js');
    const stat = fs.statSync(file);
    const host = new Host(new FileStream(file, 0, stat.size, stat.mtimeMs));
    const service = new view.ModelFactoryService(host);
    const model = await service.open(host);
    const graphs = model.modules.map((graph) => ({
        name: graph.name,
        nodes: graph.nodes.map((node) => describeNode({ base, view }, node))
    }));
    process.stdout.write(`${JSON.stringify({ format: model.format, graphs }, plain)}\n`);
};

main().catch((error) => {
    process.stderr.write(`${error && error.message ? error.message : error}\n`);
    process.exitCode = 1;
});
