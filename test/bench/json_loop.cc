/* Yardstick: JSON lines filter and projection by a bare simdjson loop. json_loop IN OUT
 *
 * Rows with price > 1000000 give {"auction":..,"price":..,"channel":".."}; strings are copied as they stand. */
#include <fcntl.h>
#include <simdjson.h>
#include <string>
#include <unistd.h>

int main(int argc, char **argv)
{
    if (argc < 3) return 2;
    auto json = simdjson::padded_string::load(argv[1]).take_value();
    int fd = open(argv[2], O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    std::string out;
    out.reserve(1 << 19);
    simdjson::ondemand::parser parser;
    auto docs = parser.iterate_many(json, 1 << 20).take_value();
    char number[32];
    for (auto doc : docs) {
        auto object = doc.get_object().take_value();
        int64_t auction = 0, price = 0;
        std::string_view channel;
        for (auto field : object) {
            simdjson::ondemand::field f = field.take_value();
            auto key = f.key();
            if (key == "auction") {
                auction = f.value().get_int64().take_value();
            } else if (key == "price") {
                price = f.value().get_int64().take_value();
            } else if (key == "channel") {
                channel = f.value().get_string().take_value();
            }
        }
        if (price <= 1000000) continue;
        out.append("{\"auction\":");
        out.append(number, (size_t)snprintf(number, sizeof(number), "%ld", auction));
        out.append(",\"price\":");
        out.append(number, (size_t)snprintf(number, sizeof(number), "%ld", price));
        out.append(",\"channel\":\"");
        out.append(channel);
        out.append("\"}\n");
        if (out.size() > (1 << 18)) {
            if (write(fd, out.data(), out.size()) < 0) return 1;
            out.clear();
        }
    }
    if (write(fd, out.data(), out.size()) < 0) return 1;
    return 0;
}
