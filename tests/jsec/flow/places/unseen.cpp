
void fill(int &number);
void show(int number);

void filled() {
    int number;
    fill(number);
    show(number);
}
